// Makes the trainer's Python environment and prints the path of its Python; messages go to stderr. The environment
// does not include the trainer's own sources: run them with PYTHONPATH=trainer/src.
import { preparePython } from './python-environment.mjs';

const locks = ['requirements.lock', 'requirements-dev.lock'];
console.log(process.env.TRAINER_PYTHON || preparePython('trainer', locks, '5 GB, this takes minutes'));
