"""OpenAI's SDK for Python: `python openai_sdk.py chat|responses|more`."""

import sys
import time

import httpx
from openai import OpenAI
from outcome import KEY, MODEL, QUESTION, URL, report
from pydantic import BaseModel

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY)
messages = [{"role": "user", "content": QUESTION}]


class Answer(BaseModel):
    answer: str


def text_of(completion) -> dict:
    return {"text": completion.choices[0].message.content, "tokens": completion.usage.total_tokens}


def output_of(response) -> dict:
    return {"text": response.output_text, "tokens": response.usage.total_tokens}


def chat() -> dict:
    return text_of(client.chat.completions.create(model=MODEL, messages=messages))


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
    return output_of(client.responses.create(model=MODEL, input=QUESTION))


def stream_response() -> dict:
    with client.responses.stream(model=MODEL, input=QUESTION) as stream:
        for event in stream:
            if event.type == "response.failed":
                raise RuntimeError(event.response.error.message)
        return output_of(stream.get_final_response())


def respond_in_background() -> dict:
    response = client.responses.create(model=MODEL, input=QUESTION, background=True)
    while response.status in ("queued", "in_progress"):
        time.sleep(0.2)
        response = client.responses.retrieve(response.id)
    return output_of(response)


class Losing(httpx.HTTPTransport):
    """Loses the first answer on its way."""

    is_lost = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        response.read()
        if not self.is_lost:
            self.is_lost = True
            raise httpx.ReadError("The connection broke.")
        return response


def retry() -> dict:
    losing = client.with_options(http_client=httpx.Client(transport=Losing(), timeout=600))
    return text_of(losing.chat.completions.create(model=MODEL, messages=messages))


def parse_chat() -> dict:
    parsed = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Answer)
    return {"text": parsed.choices[0].message.parsed.answer, "tokens": parsed.usage.total_tokens}


def parse_response() -> dict:
    parsed = client.responses.parse(model=MODEL, input=QUESTION, text_format=Answer)
    return {"text": parsed.output_parsed.answer, "tokens": parsed.usage.total_tokens}


ways = {
    "chat": {"whole": chat, "streamed": stream_chat},
    "responses": {"whole": respond, "streamed": stream_response},
    "more": {
        "background": respond_in_background,
        "retried": retry,
        "parsedChat": parse_chat,
        "parsedResponse": parse_response,
    },
}
report(**ways[sys.argv[1]])
