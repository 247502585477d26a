# /// script
# requires-python = ">=3.10"
# dependencies = ["genai-prices==0.2.3"]
# ///
"""Writes src/pool/prices.json: what vendors charge on their own endpoints, in USD per million tokens.

Run with `uv run scripts/update-prices.py`, or with any Python that has the package above, then `npx prettier --write`
on the file. To follow new prices, raise the version first. A model is left out where one rate cannot tell its price: billed by the hour of the day, or free.
"""

import datetime
import json
import pathlib
from importlib.metadata import version

from genai_prices.data import providers
from genai_prices.types import ConditionalPrice, StartDateConstraint, TieredPrices

# Models worth a row, by endpoint. The ids are those that the endpoint itself takes.
WANTED = {
    "https://api.openai.com": (
        "openai",
        "gpt-6-astra gpt-6-sol gpt-6-luna gpt-6.1-sol gpt-6.1-terra gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.5"
        " gpt-5.4 gpt-5.4-mini gpt-5.4-nano gpt-5.2 gpt-5.1 gpt-5 gpt-5-mini gpt-5-nano gpt-4.1 gpt-4.1-mini"
        " gpt-4.1-nano gpt-4o gpt-4o-mini o4-mini",
    ),
    "https://api.anthropic.com": (
        "anthropic",
        "claude-fable-5-2 claude-mythos-5-2 claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-opus-5"
        " claude-sonnet-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-sonnet-4-6 claude-opus-4-5"
        " claude-sonnet-4-5 claude-haiku-4-5 claude-sonnet-4-20250514",
    ),
    "https://generativelanguage.googleapis.com": (
        "google",
        "gemini-4-argon gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3.1-pro-preview"
        " gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite",
    ),
    "https://api.groq.com": ("groq", "openai/gpt-oss-120b openai/gpt-oss-20b qwen/qwen3-32b qwen/qwen3.8-27b"),
}

TODAY = datetime.datetime.now(datetime.timezone.utc).date()
TARGET = pathlib.Path(__file__).parent.parent / "src/pool/prices.json"


def dated_prices(prices):
    """[(first day or None, prices)], oldest first; None where the hour of the day matters."""
    if not isinstance(prices, list):
        return [(None, prices)]
    dated = []
    for entry in prices:
        assert isinstance(entry, ConditionalPrice)
        if entry.constraint is None:
            dated.append((None, entry.prices))
        elif isinstance(entry.constraint, StartDateConstraint):
            dated.append((entry.constraint.start_date, entry.prices))
        else:
            return None
    return sorted(dated, key=lambda pair: pair[0] or datetime.date.min)


def rates(prices, tier):
    """The three rates below the first threshold (tier None) or above it; fields as in `Price` of src/pool/card.ts."""
    named = {"input": prices.input_mtok, "output": prices.output_mtok, "cachedInput": prices.cache_read_mtok}
    return {name: rate_of(price, tier) for name, price in named.items() if price is not None}


def rate_of(price, tier):
    if isinstance(price, TieredPrices):
        price = price.base if tier is None else price.tiers[0].price
    return int(price) if price == int(price) else float(price)


def thresholds(prices):
    tiered = [p for p in (prices.input_mtok, prices.output_mtok) if isinstance(p, TieredPrices)]
    return sorted({tier.start for price in tiered for tier in price.tiers})


def row(first_day, prices):
    price = rates(prices, None)
    starts = thresholds(prices)
    if len(starts) > 1:
        raise SystemExit(f"more than one threshold is new: {prices}")
    if starts:
        price["longPrompt"] = {"over": starts[0], **rates(prices, starts[0])}
    return {"price": price} if first_day is None else {"from": first_day.isoformat(), "price": price}


def rows_of(model):
    """The price in force today and those announced, oldest first."""
    dated = dated_prices(model.prices)
    if dated is None or model.deprecated or dated[-1][1].input_mtok is None:
        return None
    past = [i for i, (day, _) in enumerate(dated) if day is None or day <= TODAY]
    return [row(None if i == past[-1] else day, p) for i, (day, p) in enumerate(dated) if i >= past[-1]]


def endpoint_prices(provider_id, wanted):
    provider = next(p for p in providers if p.id == provider_id)
    found = {}
    for name in wanted.split():
        model = next((m for m in provider.models if m.match.is_match(name)), None)
        rows = model and rows_of(model)
        if rows:
            found[name] = rows
        else:
            print(f"no price of {provider_id} {name}")
    return found


def main():
    release = version("genai-prices")
    table = {
        "source": f"genai-prices {release} (Python package, MIT), by scripts/update-prices.py",
        "date": TODAY.isoformat(),
        "version": f"genai-prices-{release}",
        "unit": "USD per million tokens",
        "endpoints": {url: endpoint_prices(*wanted) for url, wanted in WANTED.items()},
    }
    TARGET.write_text(json.dumps(table) + "\n")


main()
