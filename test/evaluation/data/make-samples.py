"""Writes samples/: rows of our own in the files, with the fields and types, of the data sets that can be read.

The content is invented: nothing is taken from the sets. Run it with pyarrow installed: python make-samples.py
"""

import base64
import csv
import gzip
import json
import pickle
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

SAMPLES = Path(__file__).parent / "samples"


def lines(name, rows, opened=open):
    with opened(SAMPLES / name, "wt", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def table(name, rows, schema, **options):
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), SAMPLES / name, row_group_size=5, **options)


def write_math():
    problems = [
        ("A crate holds $12$ rows of $15$ lemons. How many lemons is that?", "Prealgebra", 1, "$12\\cdot15=\\boxed{180}$."),
        ("Find $x$ if $3x-7=20$.", "Algebra", 1, "Then $3x=27$, and so $x=\\boxed{9}$."),
        ("A spinner has $8$ equal sectors, $3$ of them red. What is the probability of two reds in a row?",
         "Counting & Probability", 2, "It is $\\left(\\frac38\\right)^2=\\boxed{\\frac{9}{64}}$."),
        ("How many whole numbers from $1$ to $60$ are divisible by $4$ and not by $3$?", "Number Theory", 3,
         "There are $15$ multiples of $4$, of which $5$ are multiples of $12$: $\\boxed{10}$."),
        ("A ramp rises $5$ m over a horizontal $12$ m. How long is it, in metres?", "Geometry", 2,
         "By Pythagoras $\\sqrt{25+144}=\\boxed{13}$."),
        ("Simplify $\\sqrt{75}+\\sqrt{12}$.", "Algebra", 2, "$5\\sqrt3+2\\sqrt3=\\boxed{7\\sqrt{3}}$."),
        ("For which $x$ is $x^2<4x$? Answer with an interval.", "Intermediate Algebra", 3,
         "$x(x-4)<0$ holds on $\\boxed{(0,4)}$."),
        ("What is the angle between $(1,0)$ and $(1,1)$, in degrees?", "Precalculus", 2,
         "Its cosine is $\\frac{1}{\\sqrt2}$: $\\boxed{45^\\circ}$."),
        ("Write $0.\\overline{27}$ as a fraction in lowest terms.", "Prealgebra", 4,
         "It is $\\frac{27}{99}=\\boxed{\\frac{3}{11}}$."),
        ("Multiply $\\begin{pmatrix}1&2\\\\0&1\\end{pmatrix}$ by itself.", "Precalculus", 3,
         "$\\boxed{\\begin{pmatrix}1&4\\\\0&1\\end{pmatrix}}$."),
        ("On which day of the week is day $100$, if day $1$ is a Monday?", "Number Theory", 2,
         "$99=14\\cdot7+1$, so it is a $\\boxed{\\text{Tuesday}}$."),
        ("What is $\\frac{2+3i}{1-i}$?", "Intermediate Algebra", 4,
         "Multiply by $1+i$: $\\boxed{\\frac{-1+5i}{2}}$."),
    ]
    rows = [
        {"problem": problem, "level": f"Level {level}", "type": kind, "solution": solution}
        for problem, kind, level, solution in problems
    ]
    rows[11]["level"] = "Level ?"
    text = pa.string()
    schema = pa.schema([(name, text) for name in ("problem", "level", "type", "solution")])
    table("math.parquet", rows, schema)
    answers = ["180", "9", "\\frac{9}{64}", "10", "13", "7\\sqrt{3}", "(0,4)", "45^\\circ", "\\frac{3}{11}",
               "\\begin{pmatrix}1&4\\\\0&1\\end{pmatrix}", "\\text{Tuesday}", "\\frac{-1+5i}{2}"]
    lines("math-500.jsonl", [
        {"problem": problem.replace("?", ", exactly?"), "solution": solution, "answer": answer, "subject": kind,
         "level": level, "unique_id": f"test/{kind.lower().replace(' ', '_')}/{number}.json"}
        for number, ((problem, kind, level, solution), answer) in enumerate(zip(problems, answers), 1)
    ])


def write_mmlu():
    rows = [
        ("Which of these conducts electricity best?", "conceptual_physics", ["Glass", "Rubber", "Copper", "Wax"], 2),
        ("A body at rest stays at rest unless", "conceptual_physics",
         ["it is heavy", "a net force acts on it", "it is warm", "it is in a vacuum"], 1),
        ("Two events that cannot both happen are called", "high_school_statistics",
         ["independent", "certain", "mutually exclusive", "uniform"], 2),
        ("What is the median of 2, 9, 4, 7, 5?", "high_school_statistics", ["4", "5", "5.4", "7"], 1),
        ("A contract needs, above all,", "business_law", ["a seal", "an agreement", "a witness", "a notary"], 1),
        ("Who bears the risk of goods lost at sea before delivery, without other terms?", "business_law",
         ["The buyer", "The seller", "The port", "No one"], 1),
        ("The organ that filters blood is the", "anatomy", ["spleen", "kidney", "gall bladder", "tongue"], 1),
        ("How many chambers has a human heart?", "anatomy", ["Two", "Three", "Four", "Five"], 2),
        ("A stack gives back first what was", "college_computer_science",
         ["put in first", "put in last", "the least", "the largest"], 1),
        ("Looking up a key in a balanced tree of n keys takes time in the order of", "college_computer_science",
         ["1", "log n", "n", "n log n"], 1),
        ("'All swans here are white' is refuted by", "formal_logic",
         ["a white swan", "a black crow", "one black swan here", "nothing"], 2),
        ("From 'if A then B' and 'not B' follows", "formal_logic", ["A", "B", "not A", "A and B"], 2),
    ]
    names = ("question", "subject", "choices", "answer")
    schema = pa.schema([("question", pa.string()), ("subject", pa.string()), ("choices", pa.list_(pa.string())),
                        ("answer", pa.int64())])
    table("mmlu.parquet", [dict(zip(names, row)) for row in rows], schema)
    table("mmlu-zstd.parquet", [dict(zip(names, row)) for row in rows], schema, compression="zstd")


def write_gpqa():
    subjects = [("Physics", "Optics", "light"), ("Chemistry", "Kinetics", "reactions"), ("Biology", "Genetics", "genes")]
    head = ["Record ID", "Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3",
            "High-level domain", "Subdomain", "Explanation"]
    with open(SAMPLES / "gpqa.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for number in range(1, 13):
            domain, subdomain, topic = subjects[number % 3]
            question = (f"In an invented experiment on {topic}, run {number} gave these readings:\n\n"
                        f"a, \"first\": {number}\nb, second: {2 * number}\n\nWhat is the third, if each is one and a half "
                        f"times the mean of those before it?")
            right = 1.5 * (number + 2 * number) / 2
            writer.writerow([f"rec{number:04d}", question, f"{right}\n", f"{right + 1}", f"{right / 2}", f" {3 * number}, or so",
                             domain, subdomain, "Invented."])


def write_aime():
    problems = [
        ("Find the number of pairs of positive integers $(a,b)$ with $ab=720$.", 30),
        ("What is the remainder of $7^{50}$ divided by $100$?", 49),
        ("How many paths of $8$ unit steps right or up lead from $(0,0)$ to $(5,3)$?", 56),
        ("A triangle has sides $13$, $14$ and $15$. Find its area.", 84),
        ("Find the sum of the digits of $10^{12}-1$.", 108),
        ("How many subsets of $\\{1,\\dots,10\\}$ have no two neighbours?", 144),
        ("Find the least $n$ for which $n!$ ends in $7$ zeros.", 30),
        ("The sum of the first $n$ odd numbers is $961$. Find $n$.", 31),
        ("How many diagonals has a convex polygon of $20$ sides?", 170),
        ("Find the number of trailing zeros of $33$ written in base two, plus $33$.", 33),
        ("A fair coin is tossed $4$ times; the probability of two heads is $\\frac mn$. Find $m+n$.", 11),
        ("How many integers from $1$ to $999$ contain no digit $9$?", 728),
    ]
    rows = [
        {"id": 60 + number, "problem": problem, "solution": "Invented.", "answer": f"{answer:03d}",
         "url": f"https://example.org/{number}", "year": "2031"}
        for number, (problem, answer) in enumerate(problems)
    ]
    text = pa.string()
    table("aime.parquet", rows, pa.schema([("id", pa.int64()), ("problem", text), ("solution", text), ("answer", text),
                                           ("url", text), ("year", text)]))


def write_rlpr():
    questions = [
        ("A tank of 240 litres fills at 8 litres a minute. How long does that take?", "30 minutes", "Float", "Physics"),
        ("What is the momentum of 2 kg at 3.5 m/s?", "7 kg m/s", "Float", "Physics"),
        ("Which share of 80 is 12?", "15%", "Percentage", "Mathematics"),
        ("What is the derivative of x^3 + 2x?", "3x^2 + 2", "Expression", "Mathematics"),
        ("Name the two noble gases lighter than argon.", "helium, neon", "List", "Chemistry"),
        ("What is the pH of 0.01 M hydrochloric acid?", "2", "Integer", "Chemistry"),
        ("A bond of $1,000 pays 5 % a year. What does it pay in a year?", "$50", "Float", "Economics"),
        ("Which is a public good: A) bread B) a lighthouse C) a car D) a ticket?", "B", "Multiple Choice", "Economics"),
        ("Is a whale a fish?", "No", "Boolean", "Biology"),
        ("What carries oxygen in human blood?", "haemoglobin", "String", "Biology"),
        ("Simplify 18/24.", "\\frac{3}{4}", "Fraction", "Mathematics"),
        ("Why do leaves change colour in autumn?", "Chlorophyll breaks down and other pigments show", "String", "Biology"),
    ]
    rows = [
        {
            "data_source": "invented",
            "prompt": [
                {"content": "Think in <think>, answer in <answer>.", "role": "system"},
                {"content": question, "role": "user"},
            ],
            "ability": category.lower(),
            "reward_model": {"ground_truth": answer, "style": "rule"},
            "extra_info": {"answer_type": kind, "category": category, "completion_tokens": 100 + number,
                           "difficulty": "Primary School" if number % 2 else "University", "id": f"{number:06d}",
                           "reasoning_score": 2},
        }
        for number, (question, answer, kind, category) in enumerate(questions)
    ]
    text, whole = pa.string(), pa.int64()
    schema = pa.schema([
        ("data_source", text),
        ("prompt", pa.list_(pa.struct([("content", text), ("role", text)]))),
        ("ability", text),
        ("reward_model", pa.struct([("ground_truth", text), ("style", text)])),
        ("extra_info", pa.struct([("answer_type", text), ("category", text), ("completion_tokens", whole),
                                  ("difficulty", text), ("id", text), ("reasoning_score", whole)])),
    ])
    table("rlpr.parquet", rows, schema)
    as_text = [{**row, "prompt": json.dumps(row["prompt"]), "reward_model": json.dumps(row["reward_model"])} for row in rows]
    lines("rlpr-as-text.jsonl.gz", as_text, opened=gzip.open)


def write_live_code_bench():
    programs = [
        ("Sum of two", "Read two whole numbers and print their sum.", [("1 2\n", "3\n"), ("10 -4\n", "6\n")]),
        ("Backwards", "Read a word and print it backwards.", [("abc\n", "cba\n"), ("x\n", "x\n")]),
        ("Largest", "Read n and then n numbers; print the largest.", [("3\n1 9 4\n", "9\n"), ("1\n-5\n", "-5\n")]),
        ("Vowels", "Print how many vowels the line has.", [("banana\n", "3\n"), ("rhythm\n", "0\n")]),
        ("Halves", "Print half of a number, with one decimal.", [("7\n", "3.5\n"), ("4\n", "2.0\n")]),
        ("Rows", "Print n rows of n stars.", [("2\n", "**\n**\n"), ("1\n", "*\n")]),
    ]
    functions = [
        ("Double", "doubled", "nums: List[int]", "List[int]", [("[1, 2]", "[2, 4]"), ("[]", "[]")]),
        ("Join", "joined", "first: str, second: str", "str", [('"ab"\n"cd"', '"abcd"'), ('""\n"x"', '"x"')]),
        ("Product", "product", "a: int, b: int", "int", [("12345678901\n10", "123456789010"), ("0\n5", "0")]),
        ("Even", "areEven", "nums: List[int]", "bool", [("[2, 4]", "true"), ("[2, 3]", "false")]),
        ("Shortest", "shortest", "words: List[str]", "str", [('["abc", "d"]', '"d"'), ('["é"]', '"é"')]),
        ("Depth", "depth", "text: str", "int", [('"(())"', "2"), ('""', "0")]),
    ]
    rows = []
    for number, (title, task, tests) in enumerate(programs):
        rows.append(row_of(number, title, task, "atcoder", "", {}, tests, "stdin"))
    for number, (title, name, arguments, result, tests) in enumerate(functions, len(programs)):
        starter = f"class Solution:\n    def {name}(self, {arguments}) -> {result}:\n        "
        task = f"Write {name}, which is invented: its name says what it does."
        rows.append(row_of(number, title, task, "leetcode", starter, {"func_name": name}, tests, "functional"))
    lines("live-code-bench.jsonl", rows)


def row_of(number, title, task, platform, starter, metadata, tests, kind):
    public, *private = [{"input": given, "output": expected, "testtype": kind} for given, expected in tests]
    hidden = json.dumps(private)
    # As in the set: plain JSON in some rows, a packed pickle of it in others.
    packed = base64.b64encode(zlib.compress(pickle.dumps(hidden, protocol=2 + number % 4))).decode()
    return {
        "question_title": title,
        "question_content": task,
        "platform": platform,
        "question_id": f"inv{number:03d}",
        "contest_id": f"inv{number // 4}",
        "contest_date": f"2031-{1 + number:02d}-07T00:00:00",
        "starter_code": starter,
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "public_test_cases": json.dumps([public]),
        "private_test_cases": hidden if number % 5 == 0 else packed,
        "metadata": json.dumps(metadata),
    }


def write_big_code_bench():
    rows = []
    for number in range(12):
        library, call = (("statistics", "mean"), ("math", "fsum"), ("random", "sample"))[number % 3]
        code = f"import {library}\ndef task_func(values):\n"
        task = f'    """\n    Invented task {number}: apply {library}.{call} to the values, and multiply by {number}.\n    """\n'
        rows.append({
            "task_id": f"BigCodeBench/{9000 + number}",
            "complete_prompt": code + task,
            "instruct_prompt": f"Invented task {number}: write task_func(values), which applies {library}.{call} and "
                               f"multiplies by {number}. You should write self-contained code starting with:\n```\n{code}```",
            "canonical_solution": f"    return {number} * {library}.{call}(values)",
            "code_prompt": code,
            "test": "import unittest\nclass TestCases(unittest.TestCase):\n    def test_it(self):\n"
                    f"        self.assertIsNotNone(task_func([{number}]))\n",
            "entry_point": "task_func",
            "doc_struct": json.dumps({"description": [f"Invented task {number}."], "notes": [], "params": []}),
            "libs": f"['{library}']",
        })
    table("big-code-bench.parquet", rows, pa.schema([(name, pa.string()) for name in rows[0]]))


def write_own():
    head = ["id", "question", "grader", "answer", "options", "tolerance", "topic"]
    rows = [
        ["sum-1", "How many are 2 and 3?", "number", "5", "", "", "sums"],
        ["sum-2", "How many are 20 and 3,\nin all?", "number", "23", "", "", "sums"],
        ["share", "What is a third, in decimals?", "number", "0.333", "", "0.01", "shares"],
        ["capital", 'Which city is called the "city of light"?', "exact", "Paris", "", "", "towns"],
        ["colour", "Which colour has the sky?\n\nA. Red\nB. Blue", "choice", "B", '["Red", "Blue"]', "", "nature"],
        ["speed", "How fast is 36 km/h in m/s?", "freeform", "10 m/s", "", "", "units"],
        ["root", "Simplify the root of 8.", "math", "2\\sqrt{2}", "", "", "roots"],
        ["word", "What is the past of go?", "exact", "went", "", "", "words"],
        ["list", "Name the primes below 6.", "freeform", "2, 3, 5", "", "", "numbers"],
        ["letter", "Which letter comes after é in this line: é ü?", "exact", "ü", "", "", "letters"],
    ]
    with open(SAMPLES / "own.csv", "w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([head, *rows])


SAMPLES.mkdir(exist_ok=True)
for write in (write_math, write_mmlu, write_gpqa, write_aime, write_rlpr, write_live_code_bench, write_big_code_bench, write_own):
    write()
