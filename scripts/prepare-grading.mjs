// Makes the Python environment for the second tier of mathematics grading and prints the path of its Python.
import { preparePython } from './python-environment.mjs';

console.log(process.env.CONDUCTOR_PYTHON || preparePython('grading', ['requirements-grading.lock'], '70 MB'));
