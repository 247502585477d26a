import type { AnchorHTMLAttributes, MouseEvent, ReactElement } from 'react';
import { goTo } from '../route';

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string;
}

/** A link to a place of the page; with a key held down, the browser opens it as it opens any other. */
export function Link({ href, ...rest }: LinkProps): ReactElement {
  const open = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(href);
  };
  return <a href={href} onClick={open} {...rest} />;
}
