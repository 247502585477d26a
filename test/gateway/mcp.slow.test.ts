import { useGateway } from '../support/gateway';
import { useMcpClients } from '../support/mcp-clients';
import { useStage } from '../support/stage';
import { until } from '../support/until';

const stage = useStage({ workers: ['a'], simulation: { models: { a: { answer: 'Eight.' } } } });
const gateway = useGateway(stage);
const connect = useMcpClients();

test('a client is told that a solve is still running while nothing else happens', async () => {
  const letGo = stage.providers.hold('conductor');
  await stage.whileWorking(async () => {
    await until(
      () => gateway.ask('GET', '/health'),
      ({ status }) => status === 200,
    );
    const client = await connect(gateway);
    const call = { name: 'solve', arguments: { question: 'How many legs has a spider?' } };
    const result = await client.callTool(call, {
      onprogress: ({ message = '' }) => {
        if (message.endsWith('is still running')) letGo();
      },
    });
    expect(result).toMatchObject({ isError: false, structuredContent: { answer: 'Eight.' } });
  });
});
