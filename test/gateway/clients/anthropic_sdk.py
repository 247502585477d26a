"""Anthropic's SDK for Python, whose runner carries out calls."""

from anthropic import Anthropic, beta_tool
from outcome import KEY, MODEL, URL, report

client = Anthropic(base_url=URL, api_key=KEY)


@beta_tool
def say(word: str) -> str:
    """Says a word."""
    return f"said {word}"


def asked(question: str) -> dict:
    messages = [{"role": "user", "content": question}]
    return {"model": MODEL, "max_tokens": 1000, "messages": messages, "tools": [say]}


def outcome_of(message) -> dict:
    text = "".join(block.text for block in message.content)
    return {"text": text, "tokens": message.usage.input_tokens + message.usage.output_tokens}


def run(question: str) -> dict:
    return outcome_of(client.beta.messages.tool_runner(**asked(question)).until_done())


def stream(question: str) -> dict:
    for turn in client.beta.messages.tool_runner(**asked(question), stream=True):
        message = turn.get_final_message()
    return outcome_of(message)


report(whole=run, streamed=stream)
