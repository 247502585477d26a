import { compareAttributes, creationOf } from '../../client';
import { reasonOf } from '../../errors';
import { criteriaIn, SEARCH_ATTRIBUTES } from '../../protocol/search-attributes';
import { broken, type CheckedPlace, fine, type Looked, note, withServer } from '../kit/finding';

/** Compares the search attributes that solves are to be started with and those of the server's namespace. */
export async function checkAttributes({ config, server }: CheckedPlace): Promise<Looked[]> {
  const criteria = criteriaIn(config.temporal.searchAttributes);
  if (criteria.length === 0) return [];
  return withServer(server, async (client) => {
    const { namespace } = client.options;
    const compared = await compareAttributes(client, criteria).catch((error: unknown) => reasonOf(error));
    if (typeof compared === 'string') {
      const commands = criteria.map((each) => `\n${creationOf(each, namespace)}`).join('');
      return [
        note(`the server does not say which namespace ${namespace} has (${compared}); it needs:${commands}`),
      ];
    }
    const { missing, mistyped } = compared;
    const names = criteria.map((each) => SEARCH_ATTRIBUTES[each]).join(', ');
    if (missing.length + mistyped.length === 0) return [fine(`namespace ${namespace} has ${names}`)];
    if (server.embedded === true && mistyped.length === 0) return [fine('the next command adds them')];
    const commands = missing.map((each) => `\n${creationOf(each, namespace)}`).join('');
    return [
      ...(missing.length === 0
        ? []
        : [broken(`namespace ${namespace} lacks what solves are started with; create it:${commands}`)]),
      ...mistyped.map((each) => {
        const name = SEARCH_ATTRIBUTES[each];
        return broken(
          `${name} of namespace ${namespace} is no Keyword: remove it there and create it anew, or take it out of temporal.searchAttributes`,
        );
      }),
    ];
  });
}
