import type { ReactElement } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

const SCHEMES = /^(https?:|mailto:)/i;

/** Nothing is loaded from elsewhere: an image is a link to it. */
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

/** Markdown as elements: HTML in it is shown as the text that it is. */
export default function RenderedMarkdown({ text }: { readonly text: string }): ReactElement {
  return (
    <Markdown remarkPlugins={[remarkGfm]} components={COMPONENTS}>
      {text}
    </Markdown>
  );
}
