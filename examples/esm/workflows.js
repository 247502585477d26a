// Your own workflows stay as they are; this one line adds `conductorSolve`.
export * from 'temporal-conductor/workflows';

export async function greet(name) {
  return `Hello, ${name}!`;
}
