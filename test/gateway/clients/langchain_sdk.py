"""LangChain for Python: `python langchain_sdk.py openai|anthropic text|object`."""

import asyncio
import sys

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from outcome import KEY, MODEL, QUESTION, URL, report
from pydantic import BaseModel

if sys.argv[1] == "openai":
    model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY, stream_usage=True)
else:
    model = ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=1000)


class Answer(BaseModel):
    answer: str


def ask_for_object(method: str) -> dict:
    asking = model.with_structured_output(Answer, method=method, include_raw=True)
    found = asking.invoke(QUESTION)
    if found["parsing_error"] is not None:
        raise found["parsing_error"]
    return {"text": found["parsed"].answer, "tokens": found["raw"].usage_metadata["total_tokens"]}


def ask() -> dict:
    answer = model.invoke(QUESTION)
    return {"text": answer.text, "tokens": answer.usage_metadata["total_tokens"]}


async def stream() -> dict:
    text, tokens = "", 0
    async for chunk in model.astream(QUESTION):
        text += chunk.text
        tokens += (chunk.usage_metadata or {}).get("total_tokens", 0)
    return {"text": text, "tokens": tokens}


ways = {
    "text": {"whole": ask, "streamed": lambda: asyncio.run(stream())},
    "object": {
        "byTool": lambda: ask_for_object("function_calling"),
        "byFormat": lambda: ask_for_object("json_schema"),
    },
}
report(**ways[sys.argv[2]])
