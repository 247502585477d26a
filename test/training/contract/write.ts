// `npm run generate`: writes the contract against which the Python side checks its messages.
import { writeFileSync } from 'node:fs';
import { CONTRACT_PATH, contractJson } from './contract-json';

writeFileSync(CONTRACT_PATH, contractJson());
console.error(`${CONTRACT_PATH} is written anew: commit it with the contract.`);
