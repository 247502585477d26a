"""LangChain for Python: `python langchain_sdk.py openai|anthropic QUESTION`."""

import asyncio
import json
import os
import sys

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

way, question = sys.argv[1:]
url, key, model = (os.environ[f"GATEWAY_{name}"] for name in ("URL", "KEY", "MODEL"))
if way == "openai":
    chat = ChatOpenAI(model=model, base_url=f"{url}/v1", api_key=key)
else:
    chat = ChatAnthropic(model=model, base_url=url, api_key=key, max_tokens=1000)


async def stream() -> str:
    return "".join([chunk.text async for chunk in chat.astream(question)])


answer = chat.invoke(question)
print(
    json.dumps(
        {
            "text": answer.text,
            "streamed": asyncio.run(stream()),
            "tokens": answer.usage_metadata["total_tokens"],
        }
    )
)
