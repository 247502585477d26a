import { useEffect } from 'react';

/** Names the page that is shown in the browser's tab. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · conductor`;
  }, [name]);
}
