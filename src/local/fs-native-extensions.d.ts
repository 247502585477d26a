declare module 'fs-native-extensions' {
  /** Takes the exclusive lock on an open file; false where another open file of any process holds it. */
  export function tryLock(fd: number): boolean;
}
