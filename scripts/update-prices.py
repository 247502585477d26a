# /// script
# requires-python = ">=3.10"
# dependencies = ["genai-prices==0.2.3"]
# ///
"""Writes src/config/prices.json: what vendors charge on their own endpoints, in USD per million tokens.

Run with `uv run scripts/update-prices.py`, or with any Python that has the package above, then `npm run format`. For
new prices, raise the version first. Leaves out free models, and those priced by the hour of the day.
"""

import datetime
import json
import pathlib
from importlib.metadata import version

from genai_prices.data import providers
from genai_prices.types import ConditionalPrice, StartDateConstraint, TieredPrices

# Models to list, by endpoint, under the ids that the endpoint itself takes.
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
TARGET = pathlib.Path(__file__).parent.parent / "src/config/prices.json"

# Names of our rates (`Rates` in src/protocol/cards.ts), each with its field in genai-prices.
RATES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cachedInput": "cache_read_mtok",
    "cacheWrite": "cache_write_mtok",
    "hourCacheWrite": "cache_write_1h_mtok",
}

# Service tiers as replies name them, each with its condition in genai-prices.
TIERS = {
    "flex": {"service_tier": "flex"},
    "batch": {"processing": "batch"},
    "priority": {"service_tier": "priority"},
}


def dated_prices(prices):
    """Returns [(first day or None, prices)], oldest first, or None if prices depend on the hour of the day."""
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


def number(price):
    return int(price) if price == int(price) else float(price)


def rates(prices, over):
    """Returns the rates of a short prompt (over None) or of one longer than `over` tokens, as Decimals by our names."""
    found = {}
    for name, key in RATES.items():
        price = prices.get(key)
        if isinstance(price, TieredPrices):
            price = price.base if over is None else price.tiers[0].price
        if price is not None:
            found[name] = price
    return found


def threshold(prices):
    tiered = [price for price in prices.values() if isinstance(price, TieredPrices)]
    starts = sorted({tier.start for price in tiered for tier in price.tiers})
    if len(starts) > 1:
        raise SystemExit(f"more than one threshold is new: {prices}")
    return starts[0] if starts else None


def tier_price(prices):
    """Returns a model's rates in one tier as Decimals, including those of a long prompt."""
    over = threshold(prices)
    price = rates(prices, None)
    if over is not None:
        price["longPrompt"] = {"over": over, **rates(prices, over)}
    return price


def variant(model, prices, context, day):
    """Returns a model's prices in a tier on a day, or None if the data has none. The first entry for a price wins."""
    found = {}
    for candidate in model.price_variants or ():
        begun = candidate.constraint is None or candidate.constraint.start_date <= day
        if candidate.when == context and begun:
            found = {**candidate.prices.__dict__, **found}
    return {**prices, **found} if found else None


def flat(price):
    """Returns [(place, rate)] of a tier price, to compare two of them."""
    long = price.get("longPrompt", {})
    return [(name, rate) for name, rate in price.items() if name != "longPrompt"] + [
        (f"long {name}", rate) for name, rate in long.items() if name != "over"
    ]


def short(price, usual):
    """Returns a tier's price as a factor of the usual one if all rates share a factor of two decimals, else in full."""
    factors = {rate / dict(flat(usual))[place] for place, rate in flat(price)}
    factor = factors.pop() if len(factors) == 1 else None
    return plain(price) if factor is None or factor * 100 % 1 else number(factor)


def plain(price):
    return {name: plain(part) if isinstance(part, dict) else number(part) for name, part in price.items()}


def row(model, first_day, prices):
    usual = tier_price(prices)
    day = max(first_day or TODAY, TODAY)
    variants = {tier: variant(model, prices, context, day) for tier, context in TIERS.items()}
    tiers = {tier: short(tier_price(found), usual) for tier, found in variants.items() if found}
    price = {**plain(usual), "tiers": tiers}
    return {"price": price} if first_day is None else {"from": first_day.isoformat(), "price": price}


def rows_of(model):
    """Returns today's price and announced ones, oldest first, or None if the model is left out."""
    dated = dated_prices(model.prices)
    if dated is None or model.deprecated or dated[-1][1].input_mtok is None:
        return None
    past = [i for i, (day, _) in enumerate(dated) if day is None or day <= TODAY]
    return [
        row(model, None if i == past[-1] else day, prices.__dict__)
        for i, (day, prices) in enumerate(dated)
        if i >= past[-1]
    ]


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
