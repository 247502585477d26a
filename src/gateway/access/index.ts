export { type AuditEntry, COMMAND_LINE, noteAudit, readAudit } from './audit';
export { DayBudgets, describeSpent, readSpending, spendingInUsd } from './day-budget';
export { heldBy, type Holder, holdRun } from './hold-run';
export { asRefusal, refusalOfRun } from '../refusal';
export { createKey, isUsable, type Key, KeyChecker, listKeys, revokeKey } from './keys';
export { createPass } from './passes';
export type { DaySpending } from './reservations';
