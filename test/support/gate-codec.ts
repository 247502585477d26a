import type { Payload, PayloadCodec } from '@temporalio/common';

/** Direction of a payload in the worker's eyes. */
export type Direction = 'encode' | 'decode';

/**
 * Holds a worker in the middle of a workflow task: at the first payload that goes in the given direction and holds all
 * of the texts. What the server is told meanwhile comes after everything that this task decided (`encode`), or after
 * everything that it knew (`decode`).
 */
export class GateCodec implements PayloadCodec {
  private readonly reached = gate();
  private readonly opened = gate();

  constructor(
    private readonly direction: Direction,
    private readonly texts: readonly string[],
  ) {}

  /** Resolves when the worker stands at the gate. */
  async waitUntilReached(): Promise<void> {
    await this.reached.passed;
  }

  /** Lets it go on. */
  open(): void {
    this.opened.pass();
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    if (this.direction === 'encode') await this.hold(payloads);
    return payloads;
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    if (this.direction === 'decode') await this.hold(payloads);
    return payloads;
  }

  private async hold(payloads: readonly Payload[]): Promise<void> {
    if (!payloads.some((payload) => this.isMeant(payload))) return;
    this.reached.pass();
    await this.opened.passed;
  }

  private isMeant({ data }: Payload): boolean {
    const content = Buffer.from(data ?? []);
    return this.texts.every((text) => content.includes(text));
  }
}

interface Gate {
  readonly passed: Promise<void>;
  readonly pass: () => void;
}

function gate(): Gate {
  let pass: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass };
}
