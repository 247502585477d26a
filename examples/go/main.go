// Asks temporal-conductor a question, steers the run, and prints the answer with its cost.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// trace is the part of the result that is printed.
type trace struct {
	Answer           string              `json:"answer"`
	Usage            struct{ Calls int } `json:"usage"`
	CostUSD          float64             `json:"costUsd"`
	CostIsLowerBound bool                `json:"costIsLowerBound"`
}

func main() {
	question := "How many words are in 'to be or not to be'?"
	if len(os.Args) > 1 {
		question = os.Args[1]
	}
	// The server is set by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and so on.
	c, err := client.Dial(envconfig.MustLoadDefaultClientOptions())
	if err != nil {
		log.Fatalln(err)
	}
	defer c.Close()

	ctx := context.Background()
	input := map[string]any{"question": question, "limits": map[string]any{"depth": 1}}
	options := client.StartWorkflowOptions{ID: "solve-" + uuid.NewString(), TaskQueue: "conductor"}
	run, err := c.ExecuteWorkflow(ctx, options, "conductorSolve", input)
	if err != nil {
		log.Fatalln(err)
	}
	fmt.Println("Run", run.GetID())

	if err := c.SignalWorkflow(ctx, run.GetID(), "", "addHint", "Answer in one sentence."); err != nil {
		log.Fatalln(err)
	}
	update, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   run.GetID(),
		UpdateName:   "setLimits",
		Args:         []any{map[string]any{"calls": 20}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		log.Fatalln(err)
	}
	var limits struct{ Calls int }
	if err := update.Get(ctx, &limits); err != nil {
		log.Fatalln(err)
	}
	fmt.Printf("It may make %d calls to models.\n", limits.Calls)

	var result trace
	if err := run.Get(ctx, &result); err != nil {
		log.Fatalln("No answer.", err)
	}
	least := ""
	if result.CostIsLowerBound {
		least = "at least "
	}
	fmt.Println(result.Answer)
	fmt.Printf("%d calls, %s$%.4f\n", result.Usage.Calls, least, result.CostUSD)
}
