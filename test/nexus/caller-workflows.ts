import { createNexusServiceClient } from '@temporalio/workflow';
import { conductorNexusService, type NexusAnswer, type NexusQuestion } from '../../src/nexus';

/** Workflow of another namespace, which asks the team. */
export async function ask(endpoint: string, question: NexusQuestion): Promise<NexusAnswer> {
  const team = createNexusServiceClient({ endpoint, service: conductorNexusService });
  return team.executeOperation('solve', question, { scheduleToCloseTimeout: '45 seconds' });
}
