/** Tells lines on stdout, each with the seconds since it was made. */
export function timed(): (line: string) => void {
  const began = performance.now();
  return (line) => {
    console.log(`${seconds(performance.now() - began).padStart(8)}  ${line}`);
  };
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
