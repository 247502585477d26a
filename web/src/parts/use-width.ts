import { type RefObject, useLayoutEffect, useState } from 'react';

/** Returns an element's width in pixels, measured before the page is painted so that nothing moves; 0 until then. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => {
      setWidth(element.clientWidth);
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [box]);
  return width;
}
