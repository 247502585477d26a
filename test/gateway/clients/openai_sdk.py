"""OpenAI's SDK for Python: `python openai_sdk.py chat|responses`."""

import sys

from openai import OpenAI
from outcome import KEY, MODEL, QUESTION, URL, report

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY)
messages = [{"role": "user", "content": QUESTION}]


def chat() -> dict:
    answer = client.chat.completions.create(model=MODEL, messages=messages)
    return {"text": answer.choices[0].message.content, "tokens": answer.usage.total_tokens}


def stream_chat() -> dict:
    text, tokens = "", 0
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model=MODEL, messages=messages, stream=True, stream_options=options
    ):
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        tokens = chunk.usage.total_tokens if chunk.usage else tokens
    return {"text": text, "tokens": tokens}


def respond() -> dict:
    answer = client.responses.create(model=MODEL, input=QUESTION)
    return {"text": answer.output_text, "tokens": answer.usage.total_tokens}


def stream_response() -> dict:
    with client.responses.stream(model=MODEL, input=QUESTION) as stream:
        for event in stream:
            if event.type == "response.failed":
                raise RuntimeError(event.response.error.message)
        answer = stream.get_final_response()
    return {"text": answer.output_text, "tokens": answer.usage.total_tokens}


report(*{"chat": (chat, stream_chat), "responses": (respond, stream_response)}[sys.argv[1]])
