import { useEffect, useState } from 'react';
import { serverNow } from '../api/server-clock';

/** Returns the gateway's time, updated every `everyMs` milliseconds while `isMoving`. */
export function useNow(everyMs: number, isMoving = true): number {
  const [now, setNow] = useState(() => serverNow());
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setInterval(() => {
      setNow(serverNow());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs, isMoving]);
  return now;
}
