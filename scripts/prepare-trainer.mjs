// Makes the Python environment of the trainer and prints the path of its Python; it speaks on stderr. The trainer's own
// sources are no part of it: run them with PYTHONPATH=trainer/src.
import { preparePython } from './python-environment.mjs';

const locks = ['requirements.lock', 'requirements-dev.lock'];
console.log(process.env.TRAINER_PYTHON || preparePython('trainer', locks, '5 GB, this takes minutes'));
