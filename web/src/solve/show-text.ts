/** Control characters that hide or reorder the text around them, except the marks that right-to-left scripts need. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

const FIRST_PICTURE = 0x2400;

/** Makes control characters in a model's text visible and drops carriage returns. */
export function showText(text: string): string {
  return text.replace(CONTROLS, (control) => {
    const code = control.charCodeAt(0);
    if (code === 13) return '';
    return code < 0x20
      ? String.fromCharCode(FIRST_PICTURE + code)
      : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
