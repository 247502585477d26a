import { Component, type ReactElement, type ReactNode } from 'react';
import { Empty } from './notice';

interface BoundaryProps {
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly error: Error | null;
}

/** Shows a failure of the page itself in place of what failed, such as a part that an upgrade has replaced. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { error: null };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === null ? this.props.children : <Broken error={error} />;
  }
}

function Broken({ error }: { readonly error: Error }): ReactElement {
  return (
    <main className="place">
      <Empty title="This place cannot be shown">
        {error.message}. The gateway may have been upgraded since the page was opened; solves go on meanwhile.{' '}
        <button
          type="button"
          onClick={() => {
            window.location.reload();
          }}
        >
          Load the page again
        </button>
      </Empty>
    </main>
  );
}
