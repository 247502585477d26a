export * from '../../src/workflows';
export * from '../../src/nexus/workflows';
