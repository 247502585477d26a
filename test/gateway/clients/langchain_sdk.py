"""LangChain for Python: `python langchain_sdk.py openai|anthropic`."""

import asyncio
import sys

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from outcome import KEY, MODEL, QUESTION, URL, report

if sys.argv[1] == "openai":
    model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY, stream_usage=True)
else:
    model = ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=1000)


def ask() -> dict:
    answer = model.invoke(QUESTION)
    return {"text": answer.text, "tokens": answer.usage_metadata["total_tokens"]}


async def stream() -> dict:
    text, tokens = "", 0
    async for chunk in model.astream(QUESTION):
        text += chunk.text
        tokens += (chunk.usage_metadata or {}).get("total_tokens", 0)
    return {"text": text, "tokens": tokens}


report(whole=ask, streamed=lambda: asyncio.run(stream()))
