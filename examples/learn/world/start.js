"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.startWorld = startWorld;
exports.simulateWorld = simulateWorld;
const simulated_providers_1 = require("../../../src/testing/simulated-providers");
const reply_1 = require("./reply");
/** Serves each worker of a world in the protocols of all vendors. */
function startWorld(options) {
    const { port, firstSequence, observe } = options;
    return (0, simulated_providers_1.startSimulatedProviders)({
        ...simulateWorld(options),
        ...(port !== undefined && { port }),
        ...(firstSequence !== undefined && { firstSequence }),
        ...(observe && { observe }),
    });
}
/** Each worker of a world as a model of its name, at the world's prices: what simulated providers are started with. */
function simulateWorld({ world, seed = 0, delayMs = 0 }) {
    const models = world.workers.map((worker) => [
        worker.id,
        { answer: answerOf(world, seed, worker), price: worker.price, delayMs },
    ]);
    return { seed, models: Object.fromEntries(models) };
}
/** A call without a name of its own is named by its prompt: the same prompt, the same reply. */
function answerOf(world, seed, { id }) {
    return ({ text, callId }) => (0, reply_1.replyAs)(world, seed, { worker: id, prompt: text, callId: callId ?? text });
}
//# sourceMappingURL=start.js.map