import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import { ConfigError } from '../../config/errors';
import { reasonOf } from '../../errors';
import { FAILURES } from '../../protocol/failures';
import type { CallPrice } from '../../protocol/tool-cards';
import { resultText } from '../../protocol/tool-result';
import type { ToolRequest } from '../../protocol/tool-use';
import { whileUsingTool } from '../spans/tool';

/** What a tool in code is told besides its arguments. */
export interface ToolContext {
  /** The call: its run, its step, and the place that is the same at each attempt. */
  readonly request: ToolRequest;
  /** Aborted when the worker stops. */
  readonly signal: AbortSignal;
}

/** A tool that is a function of yours: an activity of the worker that the plugin is mounted on. */
export interface CodeTool<Input extends z.ZodObject = z.ZodObject> {
  /** Tells models what the tool does. */
  readonly description: string;
  /** Schema of the arguments. Models are offered it as JSON schema; arguments that do not fit are an error to them. */
  readonly input: Input;
  /** Returns JSON or a text. What it throws is told to the model. */
  run(input: z.output<Input>, context: ToolContext): unknown;
  /** Whether a call may be made twice in place of once, since that changes nothing. @default false */
  readonly repeatable?: boolean;
  /** Whether a person decides on each call. @default false */
  readonly approve?: boolean;
  /** @default '60s' */
  readonly timeout?: string;
  /** What a call costs; absent if nothing. */
  readonly price?: CallPrice;
}

/** Tools in code by the name under which cards list them. */
export type CodeTools = Readonly<Record<string, CodeTool>>;

/** Returns a tool as it is, and gives the arguments of its `run` the type of its `input`. */
export function defineTool<Input extends z.ZodObject>(tool: CodeTool<Input>): CodeTool {
  return tool;
}

/**
 * Adds tools in code to the content of a configuration, where they are activities on the queue of the run.
 * @throws ConfigError if a tool is in both, or if its input cannot be told to a model
 */
export function withCodeTools(written: unknown, tools: CodeTools): unknown {
  const content = Object(written) as Readonly<Record<string, unknown>>;
  const there = Object(content.tools) as object;
  const entries = Object.entries(tools).map(([name, tool]) => {
    if (Object.hasOwn(there, name)) {
      throw new ConfigError(`the tool ${name} is in "tools:" and in the plugin's code: rename one of them`);
    }
    const { description, repeatable, approve, timeout, price } = tool;
    const settings = { description, repeatable, approve, timeout, ...(price && { price }) };
    const input = jsonSchemaOf(name, tool.input);
    return [name, { activity: { type: toolActivity(name) }, input, ...settings }] as const;
  });
  return entries.length === 0 ? written : { ...content, tools: { ...there, ...Object.fromEntries(entries) } };
}

/** Returns the activity type of a tool in code, which is written into histories: never change the format. */
function toolActivity(name: string): string {
  return `conductor.tool.${name}`;
}

function jsonSchemaOf(name: string, input: z.ZodObject): object {
  try {
    const schema = z.toJSONSchema(input, { io: 'input' });
    delete schema.$schema;
    return schema;
  } catch (error) {
    throw new ConfigError(`the input of the tool ${name} has no JSON schema: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** Returns the activities that run tools in code. */
export function activitiesOf(
  tools: CodeTools,
): Readonly<Record<string, (request: ToolRequest) => Promise<string>>> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      toolActivity(name),
      (request: ToolRequest) => runTool(tool, request),
    ]),
  );
}

async function runTool(tool: CodeTool, request: ToolRequest): Promise<string> {
  const { success, data, error } = await tool.input.safeParseAsync(request.arguments);
  if (!success) {
    const misfit = `the arguments do not fit: ${z.prettifyError(error)}`;
    throw ApplicationFailure.nonRetryable(misfit, FAILURES.toolArguments);
  }
  const { cancellationSignal: signal } = Context.current();
  const run = async () => await tool.run(data, { request, signal });
  const result = await whileUsingTool(request, run, () => false);
  // A long result would not fit into the history.
  return resultText(result, request.resultBytes);
}
