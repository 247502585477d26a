import type { Kind, Topic, WorldWorker } from './world';
/** An earlier reply, as far as it matters to whoever sees it. */
export type Work = {
    readonly is: 'plan';
    readonly isGood: boolean;
}
/** A revision mends or spoils an answer that its writer saw. */
 | {
    readonly is: 'answer';
    readonly isGood: boolean;
    readonly isRevision: boolean;
};
/**
 * The law of the world: how likely a worker's reply is good, given the replies it sees, oldest first.
 *
 * A solver is helped by a sound plan and distracted by answers. A checker or refiner works on the last answer, may mend
 * or spoil it, and hardly ever mends what another revision of it left wrong. The newest visible plan is the one that counts.
 */
export declare function chanceOf(topic: Topic, worker: WorldWorker, kind: Kind, seen: readonly Work[]): number;
/** What a reply is to those who see it. A checker who saw no answer wrote one of its own. */
export declare function workOf(kind: Kind, isGood: boolean, seen: readonly Work[]): Work;
/** What a subtask asks for, told by its first word; anything unknown asks for a solution. */
export declare function kindOf(subtask: string): Kind;
//# sourceMappingURL=chance.d.ts.map