"""OpenAI's SDK for Python: `python openai_sdk.py text|tools|more`."""

import json
import sys
import time
from collections.abc import Callable

import httpx
from openai import OpenAI
from outcome import KEY, MODEL, URL, report
from pydantic import BaseModel

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY)

SAY = {
    "name": "say",
    "description": "Says a word.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
}


class Answer(BaseModel):
    answer: str


def said(arguments: str) -> str:
    return f"said {json.loads(arguments)['word']}"


def asked(question: str) -> dict:
    return {"model": MODEL, "messages": [{"role": "user", "content": question}]}


def text_of(completion) -> dict:
    return {"text": completion.choices[0].message.content, "tokens": completion.usage.total_tokens}


def output_of(response) -> dict:
    return {"text": response.output_text, "tokens": response.usage.total_tokens}


def chat(question: str) -> dict:
    return text_of(client.chat.completions.create(**asked(question)))


def stream_chat(question: str) -> dict:
    text, tokens = "", 0
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(**asked(question), stream=True, stream_options=options):
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        tokens = chunk.usage.total_tokens if chunk.usage else tokens
    return {"text": text, "tokens": tokens}


def stream_completion(**body):
    with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        return stream.get_final_completion()


def chat_with_tools(question: str, complete: Callable) -> dict:
    """Carries out calls until there is an answer: this SDK has no runner of its own."""
    body = {**asked(question), "tools": [{"type": "function", "function": SAY}]}
    while True:
        completion = complete(**body)
        message = completion.choices[0].message
        if not message.tool_calls:
            return text_of(completion)
        body["messages"].append(message.to_dict())
        for call in message.tool_calls:
            result = {"role": "tool", "tool_call_id": call.id, "content": said(call.function.arguments)}
            body["messages"].append(result)


def respond(question: str) -> dict:
    return output_of(client.responses.create(model=MODEL, input=question))


def stream_response(**body):
    with client.responses.stream(**body) as stream:
        for event in stream:
            if event.type == "response.failed":
                raise RuntimeError(event.response.error.message)
        return stream.get_final_response()


def respond_with_tools(question: str, respond_once: Callable) -> dict:
    """Carries out calls, with the earlier response named in place of its turns."""
    body = {"model": MODEL, "tools": [{"type": "function", **SAY}], "input": question}
    while True:
        response = respond_once(**body)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return output_of(response)
        body["previous_response_id"] = response.id
        body["input"] = [
            {"type": "function_call_output", "call_id": call.call_id, "output": said(call.arguments)}
            for call in calls
        ]


def respond_in_background(question: str) -> dict:
    response = client.responses.create(model=MODEL, input=question, background=True)
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


def retry(question: str) -> dict:
    losing = client.with_options(http_client=httpx.Client(transport=Losing(), timeout=600))
    return text_of(losing.chat.completions.create(**asked(question)))


def parse_chat(question: str) -> dict:
    parsed = client.chat.completions.parse(**asked(question), response_format=Answer)
    return {"text": parsed.choices[0].message.parsed.answer, "tokens": parsed.usage.total_tokens}


def parse_response(question: str) -> dict:
    parsed = client.responses.parse(model=MODEL, input=question, text_format=Answer)
    return {"text": parsed.output_parsed.answer, "tokens": parsed.usage.total_tokens}


ways = {
    "text": {
        "chat whole": chat,
        "chat streamed": stream_chat,
        "responses whole": respond,
        "responses streamed": lambda question: output_of(stream_response(model=MODEL, input=question)),
    },
    "tools": {
        "chat whole": lambda question: chat_with_tools(question, client.chat.completions.create),
        "chat streamed": lambda question: chat_with_tools(question, stream_completion),
        "responses whole": lambda question: respond_with_tools(question, client.responses.create),
        "responses streamed": lambda question: respond_with_tools(question, stream_response),
    },
    "more": {
        "background": respond_in_background,
        "retried": retry,
        "parsedChat": parse_chat,
        "parsedResponse": parse_response,
    },
}
report(**ways[sys.argv[1]])
