import type { ReactElement } from 'react';
import { describeAge } from '../../../src/trace/describe';

/** Time since `at`; hovering shows the exact time in the reader's time zone. */
export function Age({ at, now }: { readonly at: string; readonly now: number }): ReactElement {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {describeAge(Math.max(0, now - Date.parse(at)))}
    </time>
  );
}
