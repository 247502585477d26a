import type { ReactElement } from 'react';
import { useConnection } from '../api/connection';

/** Unobtrusive bar, since solves continue without the page. It overlays the page, so that nothing moves. */
export function ConnectionBar(): ReactElement {
  const isLost = useConnection() === 'lost';
  return (
    <div className="connection" role="status">
      {isLost && <span>Connection lost. Reconnecting; solves continue meanwhile.</span>}
    </div>
  );
}
