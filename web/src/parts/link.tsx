import type { AnchorHTMLAttributes, MouseEvent, ReactElement } from 'react';
import { goTo } from '../route';

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string;
}

/** Link within the page; with a modifier key, the browser handles it like any other link. */
export function Link({ href, ...rest }: LinkProps): ReactElement {
  const open = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(href);
  };
  return <a href={href} onClick={open} {...rest} />;
}
