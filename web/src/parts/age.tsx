import type { ReactElement } from 'react';
import { describeAge } from '../../../src/trace/describe';

/** How long ago something was; the exact time, in the reader's zone, on hover. */
export function Age({ at, now }: { readonly at: string; readonly now: number }): ReactElement {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {describeAge(Math.max(0, now - Date.parse(at)))}
    </time>
  );
}
