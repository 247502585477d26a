import type { TrainableConfig } from '../../training/config';
import { serversOf } from '../../training/names';
import type { configuredCards } from '../../config/api-keys';
import { proxyOfTemporal } from '../../local/temporal-route';
import { describeProxy, namesProxy, type Proxy, proxyFor } from '../../network/proxy';
import { addressOf } from './check-models';
import { fine, type CheckedPlace, type Looked, note } from '../kit/finding';

type Cards = ReturnType<typeof configuredCards>;

interface ProxyCheck extends Pick<CheckedPlace, 'server'> {
  readonly cards: Cards;
  readonly config: Pick<TrainableConfig, 'training'>;
}

/** Reports which proxy serves which address, and what is asked directly although the environment names a proxy. */
export function checkProxies({ cards, server, config: { training } }: ProxyCheck): Looked[] {
  const { env } = process;
  const routes = new Map<string, Set<string>>();
  const put = (proxy: Proxy | null, address: string): void => {
    const through = proxy === null ? '' : describeProxy(proxy);
    routes.set(through, (routes.get(through) ?? new Set<string>()).add(address));
  };
  for (const card of cards) {
    if (card.provider === 'local') continue;
    const address = addressOf(card);
    // The address of a checkpoint without its own is in its manifest.
    if (URL.canParse(address)) put(proxyFor(address, env, card.proxy), new URL(address).origin);
  }
  for (const server of policyServersIn(training)) put(proxyFor(server, env), new URL(server).origin);
  const { connection } = server;
  if (connection?.address !== undefined)
    put(proxyOfTemporal(connection, env), `Temporal at ${connection.address}`);
  const direct = routes.get('');
  routes.delete('');
  const served = Array.from(routes, ([proxy, places]) => fine(`${[...places].join(', ')} through ${proxy}`));
  const isNamed = served.length > 0 || namesProxy(env);
  return direct === undefined || !isNamed ? served : [...served, note(`${[...direct].join(', ')} directly`)];
}

function policyServersIn(training: TrainableConfig['training']): readonly string[] {
  return training === undefined ? [] : serversOf(training.policy);
}
