// Makes the Python environment of the second tier of mathematics and prints the path of its Python.
import { preparePython } from './python-environment.mjs';

console.log(process.env.CONDUCTOR_PYTHON || preparePython('grading', ['requirements-grading.lock'], '70 MB'));
