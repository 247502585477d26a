import { createNexusServiceClient } from '@temporalio/workflow';
import {
  conductorNexusService,
  type NexusAnswer,
  type NexusQuestion,
  type NexusSolveName,
} from '../../src/nexus';
import type { ToldSolve } from '../../src/trace/told-solve';

/** Workflow of another namespace, which asks the team. */
export async function ask(endpoint: string, question: NexusQuestion): Promise<NexusAnswer> {
  const team = createNexusServiceClient({ endpoint, service: conductorNexusService });
  return team.executeOperation('solve', question, { scheduleToCloseTimeout: '45 seconds' });
}

/** Workflow of another namespace, which looks how a solve of the team stands. */
export async function look(endpoint: string, name: NexusSolveName): Promise<ToldSolve> {
  const team = createNexusServiceClient({ endpoint, service: conductorNexusService });
  return team.executeOperation('getSolve', name, { scheduleToCloseTimeout: '45 seconds' });
}
