import type { ReactElement } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

const SCHEMES = /^(https?:|mailto:)/i;

/** Loads nothing from other sites: shows the address of an image instead. */
const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href === undefined || !SCHEMES.test(href) ? (
      <span>{children}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ),
  img: ({ src, alt }) => (
    <span>
      {alt} ({typeof src === 'string' ? src : 'image'})
    </span>
  ),
  input: ({ checked }) => <span>{checked === true ? '☑' : '☐'}</span>,
  table: ({ children }) => (
    <div className="scroll">
      <table>{children}</table>
    </div>
  ),
};

/** Renders Markdown; HTML in it is shown as plain text. */
export default function RenderedMarkdown({ text }: { readonly text: string }): ReactElement {
  return (
    <Markdown remarkPlugins={[remarkGfm]} components={COMPONENTS}>
      {text}
    </Markdown>
  );
}
