import { useEffect, useState } from 'react';

/** Returns the current time, updated every `everyMs` milliseconds while `isMoving`. */
export function useNow(everyMs: number, isMoving = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setInterval(() => {
      setNow(Date.now());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs, isMoving]);
  return now;
}
