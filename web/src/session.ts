import { request } from './api/request';

/** Signs in by the link that the page was opened with, if it was. What stands behind the `#` is gone from the address first. */
export async function signInByLink(): Promise<void> {
  const link = /^#link=(.+)$/.exec(window.location.hash)?.[1];
  if (link === undefined) return;
  window.history.replaceState(null, '', window.location.pathname);
  await signIn({ link });
}

export async function signIn(proof: { readonly link: string } | { readonly key: string }): Promise<void> {
  await request('/session', { method: 'POST', body: proof });
}

export async function signOut(): Promise<void> {
  await request('/session', { method: 'DELETE' });
}
