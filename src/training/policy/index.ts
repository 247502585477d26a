export { createPolicyProvider } from './conductor';
export { PolicyError } from './errors';
