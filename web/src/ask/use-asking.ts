import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { emptyTrace } from '../../../src/trace/reduce';
import { KEYS, useAsk } from '../api/queries';
import { serverNow } from '../api/server-clock';
import type { SolveBody } from '../api/types';
import { goTo, pathOfSolve } from '../route';

interface Asking {
  /** Sends a question and shows its solve. Sending the same request again does not start another solve. */
  readonly send: (asked: SolveBody & { readonly question: string }) => void;
  /** Makes the next send a new request. */
  readonly renew: () => void;
  readonly isPending: boolean;
  readonly error: Error | null;
}

/** Returns a new idempotency key, so that a question sent twice starts one solve. */
function newSending(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

export function useAsking(): Asking {
  const client = useQueryClient();
  const { mutate, isPending, error } = useAsk();
  const [sentAs, setSentAs] = useState(newSending);
  return {
    isPending,
    error,
    renew: () => {
      setSentAs(newSending());
    },
    send: (asked) => {
      const onSuccess = ({ id }: { readonly id: string }): void => {
        // Lets the solve's page render at once, and read its data at once: this is out of date from the beginning.
        const startedAt = new Date(serverNow()).toISOString();
        const begun = emptyTrace({ id, runId: '', question: asked.question, startedAt });
        client.setQueryData(KEYS.solve(id), begun, { updatedAt: 0 });
        goTo(pathOfSolve(id));
      };
      mutate({ asked, sentAs }, { onSuccess });
    },
  };
}
