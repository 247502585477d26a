import { previewOf } from '../protocol/text';
import { oneLine, widthOf } from './lines';
import { describeOutcome, type PlacedCall } from './tool-calls';

/** Most columns of a name: models invent names, too. */
const NAME_COLUMNS = 64;
const LEAST_ARGUMENTS = 16;

/**
 * Describes a call of a tool for a terminal: `shelf__look_up {"word":"Danube"} → ok in 41 ms: The Danube rises …`. Its
 * arguments leave room for what came of it; its result is for the caller to clip or to wrap.
 */
export function describeToolCall(call: PlacedCall, columns: number): string {
  const { output } = call;
  const name = oneLine(call.name, NAME_COLUMNS);
  const end = ` → ${describeOutcome(call)}${output === null ? '' : ': '}`;
  const room = Math.floor((columns - widthOf(`${name} ${end}`)) / 2);
  const given = oneLine(previewOf(call.arguments), Math.max(LEAST_ARGUMENTS, room));
  return `${name} ${given}${end}${output === null ? '' : previewOf(output)}`;
}
