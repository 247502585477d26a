import { useEffect, useState } from 'react';

/** The present time, again every so many milliseconds; still while nothing shown depends on it. */
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
