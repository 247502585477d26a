// Installs the Node and Python clients that test the gateway, and prints the path of their Python.
import { installPackages } from './install.mjs';
import { preparePython } from './python-environment.mjs';

installPackages('test/gateway/clients');
console.log(
  preparePython('clients', ['../test/gateway/clients/requirements.lock'], '200 MB, this takes a minute'),
);
