import { request } from './api/request';

/** Signs in if the page was opened by a sign-in link, after removing the link's secret from the address. */
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
