"""LangChain for Python, with its models of OpenAI and Anthropic: `python langchain_sdk.py text|object`."""

import asyncio
import sys
from functools import partial

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from outcome import KEY, MODEL, URL, report
from pydantic import BaseModel

models = {
    "openai": ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY, stream_usage=True),
    "anthropic": ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=1000),
}


class Answer(BaseModel):
    answer: str


def ask_for_object(model, method: str, question: str) -> dict:
    asking = model.with_structured_output(Answer, method=method, include_raw=True)
    found = asking.invoke(question)
    if found["parsing_error"] is not None:
        raise found["parsing_error"]
    return {"text": found["parsed"].answer, "tokens": found["raw"].usage_metadata["total_tokens"]}


def ask(model, question: str) -> dict:
    answer = model.invoke(question)
    return {"text": answer.text, "tokens": answer.usage_metadata["total_tokens"]}


async def stream(model, question: str) -> dict:
    text, tokens = "", 0
    async for chunk in model.astream(question):
        text += chunk.text
        tokens += (chunk.usage_metadata or {}).get("total_tokens", 0)
    return {"text": text, "tokens": tokens}


kinds = {
    "text": {"whole": ask, "streamed": lambda *asked: asyncio.run(stream(*asked))},
    "object": {
        "byTool": lambda model, question: ask_for_object(model, "function_calling", question),
        "byFormat": lambda model, question: ask_for_object(model, "json_schema", question),
    },
}
report(
    **{
        f"{name} {way}": partial(ask_so, model)
        for name, model in models.items()
        for way, ask_so in kinds[sys.argv[1]].items()
    }
)
