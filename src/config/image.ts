/**
 * Whether this process runs in our container image, which holds neither a Temporal server nor Python nor an engine for
 * local models: advice to install one would be of no use there.
 */
export function isOurImage(): boolean {
  return process.env.CONDUCTOR_IMAGE !== undefined;
}
