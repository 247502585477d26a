"""OpenAI's SDK for Python: `python openai_sdk.py chat|responses QUESTION`."""

import json
import os
import sys

from openai import OpenAI

way, question = sys.argv[1:]
client = OpenAI(base_url=f"{os.environ['GATEWAY_URL']}/v1", api_key=os.environ["GATEWAY_KEY"])
model = os.environ["GATEWAY_MODEL"]
messages = [{"role": "user", "content": question}]

if way == "chat":
    answer = client.chat.completions.create(model=model, messages=messages)
    text, tokens = answer.choices[0].message.content, answer.usage.total_tokens
    streamed = ""
    for chunk in client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    ):
        streamed += "".join(choice.delta.content or "" for choice in chunk.choices)
else:
    answer = client.responses.create(model=model, input=question)
    text, tokens = answer.output_text, answer.usage.total_tokens
    with client.responses.stream(model=model, input=question) as stream:
        streamed = stream.get_final_response().output_text
print(json.dumps({"text": text, "streamed": streamed, "tokens": tokens}))
