"""LangChain for Python: `python langchain_sdk.py openai|anthropic text|object`."""

import asyncio
import sys

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from outcome import KEY, MODEL, URL, report
from pydantic import BaseModel

if sys.argv[1] == "openai":
    model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY, stream_usage=True)
else:
    model = ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=1000)


class Answer(BaseModel):
    answer: str


def ask_for_object(question: str, method: str) -> dict:
    asking = model.with_structured_output(Answer, method=method, include_raw=True)
    found = asking.invoke(question)
    if found["parsing_error"] is not None:
        raise found["parsing_error"]
    return {"text": found["parsed"].answer, "tokens": found["raw"].usage_metadata["total_tokens"]}


def ask(question: str) -> dict:
    answer = model.invoke(question)
    return {"text": answer.text, "tokens": answer.usage_metadata["total_tokens"]}


async def stream(question: str) -> dict:
    text, tokens = "", 0
    async for chunk in model.astream(question):
        text += chunk.text
        tokens += (chunk.usage_metadata or {}).get("total_tokens", 0)
    return {"text": text, "tokens": tokens}


ways = {
    "text": {"whole": ask, "streamed": lambda question: asyncio.run(stream(question))},
    "object": {
        "byTool": lambda question: ask_for_object(question, "function_calling"),
        "byFormat": lambda question: ask_for_object(question, "json_schema"),
    },
}
report(**ways[sys.argv[2]])
